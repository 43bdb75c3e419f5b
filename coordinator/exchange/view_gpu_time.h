/* view_gpu_time.h - what the held time of each GPU was spent on, in SQL
 *
 * The same as costs/gpu_time.h: each moment of a held interval goes to the
 * first kind that covers it, or to the rest of its phase.
 */
#ifndef FA_COORDINATOR_EXCHANGE_VIEW_GPU_TIME_H
#define FA_COORDINATOR_EXCHANGE_VIEW_GPU_TIME_H

/* Columns and the rest of the view fa_gpu_time (docs/exchange.md). */
extern const char view_gpu_time_columns[];
extern const char view_gpu_time_from[];

#endif
