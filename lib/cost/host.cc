#include "lib/cost/host.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "lmsimbench/cost_models.h"

namespace lmsimbench {
namespace {

// Links, one direction: PCI Express 3.0, 4.0 and 5.0 with 16 lanes of 8, 16 and
// 32 GT/s in 128b/130b (PCI-SIG, specifications of the same numbers);
// NVLink-C2C 900 GB/s in both directions together (NVIDIA, GH200 and GB200
// datasheets). Memory: what the processors of a usual server have, divided by
// its devices.
//   DGX-1: two Xeon E5-2698 v4 of 76.8 GB/s (Intel ARK) for 8 devices.
//   DGX A100: two EPYC 7742 of 204.8 GB/s (AMD product page) for 8.
//   DGX H100: two Xeon Platinum 8480C, 8 channels of DDR5-4800, 307.2 GB/s each
//   (Intel ARK, Platinum 8480+), for 8.
//   GH200: up to 512 GB/s of LPDDR5X for one device; GB200 as much for two
//   (NVIDIA Grace datasheet).
constexpr HostKind kPcie3 = {
    15.75e9, 19.2e9,
    "what is not stated of the host is as in a DGX-1: PCIe 3.0 x16 (15.75 "
    "GB/s), 19.2 GB/s of its memory a device"};
constexpr HostKind kPcie4 = {
    31.5e9, 51.2e9,
    "what is not stated of the host is as in a DGX A100: PCIe 4.0 x16 (31.5 "
    "GB/s), 51.2 GB/s of its memory a device"};
constexpr HostKind kPcie5 = {
    63e9, 76.8e9,
    "what is not stated of the host is as in a DGX H100: PCIe 5.0 x16 (63 "
    "GB/s), 76.8 GB/s of its memory a device"};
constexpr HostKind kGraceHopper = {
    450e9, 512e9,
    "what is not stated of the host is as in a GH200: NVLink-C2C (450 GB/s), "
    "512 GB/s of its memory a device"};
constexpr HostKind kGraceBlackwell = {
    450e9, 256e9,
    "what is not stated of the host is as in a GB200: NVLink-C2C (450 GB/s), "
    "256 GB/s of its memory a device"};

// By what the name of a device holds, the first that does. The vendors' product
// pages state the PCIe generation.
struct Named {
  absl::string_view part;
  const HostKind* host;
};
constexpr Named kNamed[] = {
    {"gh200", &kGraceHopper},
    {"gb200", &kGraceBlackwell},
    {"gb300", &kGraceBlackwell},
    {"v100", &kPcie3},
    {"p100", &kPcie3},
    {"h100", &kPcie5},
    {"h200", &kPcie5},
    {"h800", &kPcie5},
    {"h20", &kPcie5},
    {"b200", &kPcie5},
    {"b300", &kPcie5},
    {"mi300", &kPcie5},
    {"mi325", &kPcie5},
    {"mi350", &kPcie5},
    {"mi355", &kPcie5},
    {"gaudi 3", &kPcie5},
    {"max 1550", &kPcie5},
};

}  // namespace

const HostKind& HostKindOf(const Accelerator& accelerator) {
  const std::string name = absl::AsciiStrToLower(accelerator.name);
  for (const Named& named : kNamed) {
    if (absl::StrContains(name, named.part)) return *named.host;
  }
  return kPcie4;
}

std::string UnstatedHost(const System& system) {
  if (IsStated(system.host_link_bandwidth) &&
      IsStated(system.host_memory_bandwidth)) {
    return "";
  }
  return HostKindOf(system.accelerator).words;
}

double HostSeconds(const RooflineParameters& parameters, const System& system,
                   const Operator& op) {
  const HostKind& kind = HostKindOf(system.accelerator);
  const double memory =
      parameters.host_memory_efficiency *
      (IsStated(system.host_memory_bandwidth) ? system.host_memory_bandwidth
                                              : kind.memory_bandwidth);
  const double memory_s = op.bytes / memory;
  if (op.kind != OperatorKind::kHostCopy) return memory_s;
  const double link =
      parameters.host_link_efficiency * (IsStated(system.host_link_bandwidth)
                                             ? system.host_link_bandwidth
                                             : kind.link_bandwidth);
  return std::max(memory_s, op.bytes / link);
}

}  // namespace lmsimbench
