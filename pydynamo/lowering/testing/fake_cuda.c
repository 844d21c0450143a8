/* A stand-in for libcuda.so.1, for a machine without a GPU: what Triton's driver calls, and nothing else.
 *
 * Binaries are "loaded" by reading the sizes of the kernel's parameters from the cubin (an ELF file: section
 * .nv.info.NAME, attribute 0x17), as the real driver does.  A launch does not run: it writes one line to the file
 * named by FAKE_CUDA_LOG, with the parameters copied by those sizes:
 *
 *     name gridX gridY gridZ blockX shared stream size:value size:value ...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

#define MOST 128

struct kernel {
  char name[256];
  int count, size[MOST], dynamic_shared;
  struct kernel *next;
};

static struct kernel *loaded;
static int context;

static uint64_t number(const unsigned char *p, int bytes) {
  uint64_t v = 0;
  memcpy(&v, p, bytes);
  return v;
}

/* Sizes of the parameters of `k` from the section header table of a 64-bit ELF file. */
static int read_parameters(struct kernel *k, const unsigned char *elf) {
  uint64_t table = number(elf + 40, 8);
  int entry = number(elf + 58, 2), sections = number(elf + 60, 2), names = number(elf + 62, 2);
  const char *strings = (const char *)elf + number(elf + table + names * entry + 24, 8);
  char wanted[300];
  snprintf(wanted, sizeof wanted, ".nv.info.%s", k->name);
  for (int s = 0; s < sections; ++s) {
    const unsigned char *header = elf + table + s * entry;
    if (strcmp(strings + number(header, 4), wanted)) continue;
    const unsigned char *at = elf + number(header + 24, 8), *end = at + number(header + 32, 8);
    while (at + 4 <= end) {
      int format = at[0], attribute = at[1], length = format == 4 ? (int)number(at + 2, 2) : 0;
      if (attribute == 0x17 && length == 12) {
        int ordinal = number(at + 8, 2);
        if (ordinal >= MOST) return 0;
        k->size[ordinal] = number(at + 12, 4) >> 18;
        if (ordinal >= k->count) k->count = ordinal + 1;
      }
      at += 4 + length;
    }
    return 1;
  }
  return 0;
}

CUresult cuInit(unsigned flags) { return CUDA_SUCCESS; }

CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = "the fake driver refuses";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 232448; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = 233472; break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: *value = 65536; break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
  default: *value = 1;
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *current) {
  *current = (CUcontext)&context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext current) { return CUDA_SUCCESS; }

CUresult cuDevicePrimaryCtxRetain(CUcontext *current, CUdevice device) { return cuCtxGetCurrent(current); }

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  *value = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return CUDA_SUCCESS; }

/* Host memory passes for device memory. */
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  *(CUdeviceptr *)data = pointer;
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  *module = (CUmodule)image;
  return memcmp(image, "\177ELF", 4) ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  fseek(file, 0, SEEK_END);
  size_t size = ftell(file);
  char *image = malloc(size); /* kept: modules are never unloaded */
  rewind(file);
  size_t got = fread(image, 1, size, file);
  fclose(file);
  return got == size ? cuModuleLoadData(module, image) : CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  struct kernel *k = calloc(1, sizeof *k);
  snprintf(k->name, sizeof k->name, "%s", name);
  if (!read_parameters(k, (const unsigned char *)module)) return CUDA_ERROR_NOT_FOUND;
  k->next = loaded, loaded = k;
  *function = (CUfunction)k;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) ((struct kernel *)function)->dynamic_shared = value;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) { return CUDA_SUCCESS; }

static CUresult launch(struct kernel *wanted, const unsigned grid[3], unsigned threads, unsigned shared,
                       CUstream stream, void **parameters) {
  struct kernel *k = loaded;
  while (k && k != wanted) k = k->next;
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  if (!grid[0] || !grid[1] || !grid[2] || grid[1] > 65535 || grid[2] > 65535) return CUDA_ERROR_INVALID_VALUE;
  if (shared > 49152 && shared > (unsigned)k->dynamic_shared)
    return CUDA_ERROR_INVALID_VALUE; /* more than 48 KB wants to be asked for */
  const char *path = getenv("FAKE_CUDA_LOG");
  if (!path) return CUDA_SUCCESS;
  FILE *log = fopen(path, "a");
  if (!log) return CUDA_ERROR_FILE_NOT_FOUND;
  fprintf(log, "%s %u %u %u %u %u %llu", k->name, grid[0], grid[1], grid[2], threads, shared,
          (unsigned long long)(uintptr_t)stream);
  for (int i = 0; i < k->count; ++i)
    fprintf(log, " %d:%llu", k->size[i], (unsigned long long)number(parameters[i], k->size[i]));
  fprintf(log, "\n");
  fclose(log);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **parameters, void **extra) {
  const unsigned grid[3] = {x, y, z};
  return launch((struct kernel *)function, grid, bx * by * bz, shared, stream, parameters);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  return launch((struct kernel *)function, grid, config->blockDimX * config->blockDimY * config->blockDimZ,
                config->sharedMemBytes, config->hStream, parameters);
}

/* Named by torch's table of driver functions, and never called here. */
#define ABSENT(name) \
  CUresult absent_##name(void) __asm__(#name); \
  CUresult absent_##name(void) { return CUDA_ERROR_NOT_SUPPORTED; }
ABSENT(cuLaunchCooperativeKernel)
ABSENT(cuLinkAddData_v2)
ABSENT(cuLinkComplete)
ABSENT(cuLinkCreate_v2)
ABSENT(cuModuleLoadDataEx)
ABSENT(cuModuleUnload)
ABSENT(cuOccupancyMaxActiveBlocksPerMultiprocessor)
ABSENT(cuTensorMapEncodeTiled)
