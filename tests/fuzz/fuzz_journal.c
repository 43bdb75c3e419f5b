/* A worker's disk may turn its journal into any bytes.  All that lies in it is
 * an intact record or counts as damage, and what is intact reads the same when
 * it is written again. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "worker/store/journal_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_head(const struct journal_record *record)
{
    unsigned char head[JOURNAL_RECORD_HEAD];
    unsigned char again[JOURNAL_RECORD_HEAD + 64];
    struct journal_record same;

    if (record->len > 64)
        return;
    journal_record_head(record, head);
    memcpy(again, head, sizeof(head));
    memcpy(again + sizeof(head), record->message, record->len);
    assert(journal_record_read(again, sizeof(head) + record->len, &same) ==
           sizeof(head) + record->len);
    assert(same.len == record->len && same.utc_ns == record->utc_ns);
    assert(strcmp(same.owner, record->owner) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct journal_damage damage = { 0 };
    struct journal_record record;
    size_t at = 0, intact = 0;

    while ((at = journal_record_find(data, size, at, &damage)) < size) {
        size_t n = journal_record_read(data + at, size - at, &record);

        assert(n > 0 && n <= size - at);
        check_head(&record);
        intact += n;
        at += n;
    }
    assert(intact + damage.bytes == size);
    return 0;
}
