/* build_fixture.h - builds by the compilers of this machine, in a cache of
 * their own
 *
 * Set up and tear down once a program.  A job with a key that was built before
 * is answered from the cache.  A step that is impossible fails the test, and so
 * does a build that leaves files.
 */
#ifndef FA_TESTS_WORKER_BUILD_BUILD_FIXTURE_H
#define FA_TESTS_WORKER_BUILD_BUILD_FIXTURE_H

#include "worker/build/build.h"

extern char build_fixture_dir[]; /* from the set-up on; removed at the end */
/* What build_fixture_run() builds with; each job sets the compiler. */
extern struct build_tools build_fixture_tools;

int build_fixture_set_up(void **state);
int build_fixture_tear_down(void **state);

/* The number of files in a folder of the cache. */
int build_fixture_entries(const char *folder);

/* For g++: 'source' after 'header', with the little of fa/emulation.h that a
 * kernel needs.  The next job takes its place. */
struct build_job build_fixture_job(const char *source, const char *header);
/* The same with the real fa/emulation.h and all that it includes. */
struct build_job build_fixture_real_job(const char *source, const char *key);
/* For nvcc, with BLOCK=128 in the header. */
struct build_job build_fixture_nvcc_job(const char *nvcc, const char *source,
                                        const char *key);

/* Build it to its end; the caller calls build_result_fini(). */
struct build_result build_fixture_run(const struct build_job *job);
/* The end of one that was started. */
struct build_result build_fixture_finish(struct build *build);
/* It compiles, but is not the kernel that was asked for, with this detail. */
void build_fixture_assert_unfit(struct build_job job, const char *detail);

#endif
