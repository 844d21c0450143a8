/* A stand-in for the CUDA runtime and for what torch calls of cuBLAS, to be preloaded on a machine without a GPU.
 *
 * torch then sees one H200.  Device memory is host memory that is not touched before it is used, copies between host
 * and device are made up to COPIED bytes, kernels do nothing, and events read the host's clock.  While a stream is
 * captured, calls that a capture forbids fail as they would.  Binaries of Triton go to `fake_cuda.c`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cuda_runtime_api.h"

#define COPIED (1 << 20)
#define MEMORY (150ul << 30)
#define MOST (1 << 16)
#define OK(signature) \
  cudaError_t signature { return cudaSuccess; }
#define NOT_CAPTURED(signature) \
  cudaError_t signature { return capturing ? fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess; }

static __thread cudaError_t last;
static int capturing, blocks;
static struct { char *start; size_t size; } memory[MOST];

static cudaError_t fail(cudaError_t error) { return last = error; }

/* ------------------------------------------------------------------ the device */
OK(cudaSetDevice(int device))
OK(cudaDeviceEnablePeerAccess(int device, unsigned flags))
OK(cudaProfilerStart(void))
OK(cudaProfilerStop(void))
NOT_CAPTURED(cudaDeviceSynchronize(void))

cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int *can, int a, int b) { return *can = 0, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *v) { return *v = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *v) { return *v = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { return *least = *greatest = 0, cudaSuccess; }
cudaError_t cudaPeekAtLastError(void) { return last; }

cudaError_t cudaGetLastError(void) {
  cudaError_t found = last;
  last = cudaSuccess;
  return found;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
  memset(p, 0, sizeof *p);
  strcpy(p->name, "fake H200");
  p->major = 9;
  p->multiProcessorCount = 132;
  p->totalGlobalMem = MEMORY;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxThreadsPerBlock = 1024;
  p->maxBlocksPerMultiProcessor = 32;
  p->regsPerMultiprocessor = p->regsPerBlock = 65536;
  p->sharedMemPerBlock = 49152;
  p->sharedMemPerBlockOptin = 232448;
  p->sharedMemPerMultiprocessor = 233472;
  p->warpSize = 32;
  p->l2CacheSize = 50 << 20;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->textureAlignment = 512;
  p->unifiedAddressing = p->concurrentKernels = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount: *value = 132; break;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
  case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
  case cudaDevAttrWarpSize: *value = 32; break;
  case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
  case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
  case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 232448; break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 233472; break;
  case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
  case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
  default: *value = 1;
  }
  return cudaSuccess;
}

static int absent(void) { return 801; }

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **found, unsigned version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  *found = driver ? dlsym(driver, name) : NULL;
  if (!*found) *found = (void *)absent;
  if (status) *status = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

/* ------------------------------------------------------------------ memory */
OK(cudaHostRegister(void *p, size_t n, unsigned flags))
OK(cudaHostUnregister(void *p))

cudaError_t cudaMalloc(void **p, size_t n) {
  if (n > MEMORY || blocks == MOST) return fail(cudaErrorMemoryAllocation);
  *p = mmap(NULL, n ? n : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (*p == MAP_FAILED) return fail(cudaErrorMemoryAllocation);
  memory[blocks].start = *p;
  memory[blocks++].size = n;
  return cudaSuccess;
}

cudaError_t cudaFree(void *p) {
  for (int i = 0; i < blocks; ++i)
    if (memory[i].start == p) {
      munmap(p, memory[i].size);
      memory[i] = memory[--blocks];
      break;
    }
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags) { return *p = malloc(n), cudaSuccess; }
cudaError_t cudaFreeHost(void *p) { return free(p), cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *left, size_t *all) { return *left = *all = MEMORY, cudaSuccess; }

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream) {
  if (n <= COPIED) memcpy(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, n, kind, NULL);
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream) {
  if (n <= COPIED) memset(p, value, n);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void **p, const void *symbol) { return *p = malloc(64), cudaSuccess; }

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p) {
  memset(a, 0, sizeof *a);
  a->type = cudaMemoryTypeUnregistered;
  for (int i = 0; i < blocks; ++i)
    if ((char *)p >= memory[i].start && (char *)p < memory[i].start + memory[i].size) {
      a->type = cudaMemoryTypeDevice;
      a->devicePointer = (void *)p;
    }
  return cudaSuccess;
}

/* ------------------------------------------------------------------ kernels of torch's own */
OK(cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute attribute, int value))
OK(cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *f, void **arguments))

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *f) {
  memset(a, 0, sizeof *a);
  a->maxThreadsPerBlock = 1024;
  a->ptxVersion = a->binaryVersion = 90;
  a->numRegs = 32;
  a->maxDynamicSharedSizeBytes = 49152;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int threads, size_t shared) {
  return *n = 2, cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int threads, size_t shared,
                                                                   unsigned flags) {
  return *n = 2, cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s) {
  if (!grid.x || !grid.y || !grid.z || grid.y > 65535 || grid.z > 65535) return fail(cudaErrorInvalidConfiguration);
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *f) { return *kernel = (cudaKernel_t)f, cudaSuccess; }
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t n, cudaStream_t s) {
  return cudaLaunchKernel(f, grid, block, arguments, n, s);
}

/* ------------------------------------------------------------------ streams, events, graphs */
OK(cudaStreamDestroy(cudaStream_t s))
OK(cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags))
OK(cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode))
OK(cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s))
OK(cudaGraphDestroy(cudaGraph_t graph))
OK(cudaGraphExecDestroy(cudaGraphExec_t exec))
NOT_CAPTURED(cudaStreamQuery(cudaStream_t s))
NOT_CAPTURED(cudaStreamSynchronize(cudaStream_t s))
NOT_CAPTURED(cudaEventQuery(cudaEvent_t e))
NOT_CAPTURED(cudaEventSynchronize(cudaEvent_t e))

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
  return *s = calloc(1, 8), cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) { return *priority = 0, cudaSuccess; }

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode) {
  if (!s) return fail(cudaErrorStreamCaptureUnsupported); /* the legacy stream */
  return capturing = 1, cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph) {
  capturing = 0;
  return *graph = calloc(1, 8), cudaSuccess;
}
static enum cudaStreamCaptureStatus status_of(cudaStream_t s) {
  return capturing && s ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) {
  return *status = status_of(s), cudaSuccess;
}
#undef cudaStreamGetCaptureInfo
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count) {
  *status = status_of(s);
  if (id) *id = 1;
  if (graph) *graph = NULL;
  if (nodes) *nodes = NULL;
  if (edges) *edges = NULL;
  if (count) *count = 0;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
  return *exec = calloc(1, 8), cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  return *count = 1, cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) {
  return *e = calloc(1, sizeof(double)), cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return free(e), cudaSuccess; }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return *(double *)e = 1e3 * now.tv_sec + 1e-6 * now.tv_nsec, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) { return cudaEventRecordWithFlags(e, s, 0); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
  return *ms = *(double *)end - *(double *)start + 1e-3, cudaSuccess;
}

/* ------------------------------------------------------------------ cuBLAS: every product is done at once */
#define DONE(name) \
  int name(void) { return 0; }
DONE(cublasDestroy_v2)
DONE(cublasSetStream_v2)
DONE(cublasSetWorkspace_v2)
DONE(cublasSetMathMode)
DONE(cublasSetPointerMode_v2)
DONE(cublasGemmEx)
DONE(cublasGemmStridedBatchedEx)
DONE(cublasSgemm_v2)
DONE(cublasSgemmStridedBatched)
DONE(cublasLtMatmul)
int cublasCreate_v2(void **handle) { return *handle = calloc(1, 8), 0; }
int cublasGetMathMode(void *handle, int *mode) { return *mode = 0; }
int cublasGetPointerMode_v2(void *handle, int *mode) { return *mode = 0; }
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c, void *d, void *preference,
                                   int wanted, void *results, int *found) {
  memset(results, 0, 96); /* one cublasLtMatmulHeuristicResult_t, with a status of success */
  return *found = 1, 0;
}
