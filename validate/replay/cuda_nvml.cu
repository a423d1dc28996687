/*
 * cuda_nvml.cu - clocks and the driver's version, by NVML.
 *
 * NVML comes with the driver, not with the toolkit, so it is loaded by name;
 * the few functions that are used have kept their form since its version 2.
 */
#include "validate/replay/cuda_parts.h"

#include <dlfcn.h>
#include <stdio.h>

typedef void *nvml_gpu;

enum { NVML_GOOD = 0, NVML_SM_CLOCK = 1 };

/* nvmlPciInfo_t */
struct pci {
    char old_bus[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct replay_nvml_state {
    void *library;
    nvml_gpu gpu;
    int (*shutdown)(void);
    int (*driver)(char *text, unsigned length);
    int (*clock)(nvml_gpu gpu, int which, unsigned *mhz);
    int (*pci)(nvml_gpu gpu, struct pci *pci);
};

template <typename F>
static bool find(void *library, const char *name, F *function)
{
    *function = (F)dlsym(library, name);
    return *function != NULL;
}

static bool load(struct replay_nvml_state *nvml, const char *bus_id)
{
    int (*init)(void);
    int (*by_bus)(const char *bus_id, nvml_gpu *gpu);

    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return nvml->library != NULL && find(nvml->library, "nvmlInit_v2", &init) &&
           find(nvml->library, "nvmlShutdown", &nvml->shutdown) &&
           find(nvml->library, "nvmlSystemGetDriverVersion", &nvml->driver) &&
           find(nvml->library, "nvmlDeviceGetClockInfo", &nvml->clock) &&
           find(nvml->library, "nvmlDeviceGetPciInfo_v3", &nvml->pci) &&
           find(nvml->library, "nvmlDeviceGetHandleByPciBusId_v2", &by_bus) &&
           init() == NVML_GOOD && by_bus(bus_id, &nvml->gpu) == NVML_GOOD;
}

void replay_nvml_open(struct replay_device *device)
{
    char bus_id[32];
    struct replay_nvml_state *nvml;

    if (cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), device->gpu) !=
        cudaSuccess) {
        return;
    }
    nvml = new replay_nvml_state();
    if (load(nvml, bus_id)) {
        device->nvml = nvml;
        return;
    }
    if (nvml->library != NULL) {
        (void)dlclose(nvml->library);
    }
    delete nvml;
}

void replay_nvml_close(struct replay_device *device)
{
    if (device->nvml != NULL) {
        (void)device->nvml->shutdown();
        (void)dlclose(device->nvml->library);
        delete device->nvml;
        device->nvml = NULL;
    }
}

double replay_nvml_clock_mhz(struct replay_device *device)
{
    unsigned mhz = 0;

    return device->nvml != NULL &&
                   device->nvml->clock(device->nvml->gpu, NVML_SM_CLOCK,
                                       &mhz) == NVML_GOOD
               ? mhz
               : 0.0;
}

void replay_nvml_describe(struct replay_device *device,
                          struct replay_description *description)
{
    struct pci pci = {};

    if (device->nvml == NULL) {
        return;
    }
    (void)device->nvml->driver(description->driver,
                               sizeof(description->driver));
    if (device->nvml->pci(device->nvml->gpu, &pci) == NVML_GOOD) {
        (void)snprintf(description->device_id, sizeof(description->device_id),
                       "%04x:%04x", pci.device_id & 0xffffu,
                       pci.device_id >> 16);
    }
}
