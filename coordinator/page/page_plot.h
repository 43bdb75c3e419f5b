/* page_plot.h - the ranking as a picture that needs no script
 *
 * An interval plot (Cleveland, 1984: dots on a common scale): one row a
 * configuration, with the median as a dot, the spread around it as a thick
 * line, fastest and slowest sample as a thin one, and the interval of the
 * confirmation below where there is one.
 */
#ifndef FA_COORDINATOR_PAGE_PAGE_PLOT_H
#define FA_COORDINATOR_PAGE_PAGE_PLOT_H

#include <stddef.h>
#include <stdio.h>

struct conclusion;
struct report;

#define PAGE_PLOT_ROWS 20 /* the fastest; and the baseline */

/* Markup: a figure with an SVG.  Nothing if no configuration is ranked. */
void page_plot_ranking(const struct report *report,
                       const struct conclusion *conclusion, FILE *to);

/* Steps of 1, 2 or 5 times a power of ten: at most 'most' of them in a span,
 * which is above 0. */
double page_plot_step(double span, int most);

#endif
