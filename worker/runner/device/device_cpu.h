/* device_cpu.h - what only the emulated device can tell */
#ifndef FA_WORKER_RUNNER_DEVICE_DEVICE_CPU_H
#define FA_WORKER_RUNNER_DEVICE_DEVICE_CPU_H

/* Wavefronts a phase of ldmatrix in the latest launch (emulator.h). */
double device_cpu_bank_conflicts(void);

#endif
