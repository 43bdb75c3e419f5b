/* Linked into the programs of a build with ASan.  End-to-end tests start them
 * thousands of times, and looking for leaks takes half of a short one's time.
 * Unit tests and the simulation look for leaks, in the same code.  Likewise, to
 * keep the callers of each malloc() touches 450 pages in fa-coord; an error is
 * found without them.  To see who allocated, give a larger number here. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0:quarantine_size_mb=4:malloc_context_size=1";
}
