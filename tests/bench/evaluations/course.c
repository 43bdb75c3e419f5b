#include "tests/bench/evaluations/course.h"

#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "tests/bench/evaluations/problem.h"

const double course_goals[COURSE_GOALS] = { 0.01, 0.05, 0.10 };

void course_init(struct course *course, const struct problem *problem, int cap)
{
    int size = domain_size(problem->domain);

    *course =
        (struct course){ .problem = problem, .cap = cap < size ? cap : size };
    course->seen = mem_new((size_t)size, 1);
}

void course_fini(struct course *course)
{
    free(course->seen);
}

double course_try(struct course *course, int point)
{
    double time = course->problem->times[point];

    if (course->seen[point])
        return time;
    course->seen[point] = 1;
    course->n++;
    for (int g = 0; g < COURSE_GOALS; g++)
        if (course->reached[g] == 0 && time > 0 &&
            time <= course->problem->best * (1 + course_goals[g]))
            course->reached[g] = course->n;
    return time;
}

bool course_is_over(const struct course *course)
{
    return course->n >= course->cap || course->reached[0] > 0;
}
