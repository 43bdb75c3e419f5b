/* page_policy.h - the Content-Security-Policy of a page
 *
 * A policy allows each script and style by the SHA-256 of its text (Content
 * Security Policy Level 3, section 8.3).  Pure; any thread.
 */
#ifndef FA_COORDINATOR_PAGE_PAGE_POLICY_H
#define FA_COORDINATOR_PAGE_PAGE_POLICY_H

#include <stdbool.h>
#include <stddef.h>

/* The text of an element, in parts that follow each other. */
struct page_policy_text {
    const char *parts[4]; /* NULL ends them early */
};

/* The value of the header, for the caller to free.  'live': scripts may ask the
 * server that the page is from. */
char *page_policy(const struct page_policy_text *scripts, size_t n_scripts,
                  const struct page_policy_text *style, bool live);

#endif
