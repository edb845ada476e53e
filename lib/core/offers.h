#pragma once

#include <string>
#include <vector>

#include "lib/core/rules.h"
#include "lmsimbench/legality.h"

namespace lmsimbench::legality {

/// True if every rule holds.
bool AllHold(const Subject& subject);

/// Rules that do not hold.
size_t CountBroken(const Subject& subject);

/// The first rule that does not hold, or null.
const Rule* FirstBroken(const Subject& subject);

/// Values that are worth trying for a field, nearest to its present value
/// first. Sizes must be in range.
std::vector<Offer::Value> Candidates(const Subject& subject,
                                     const std::string& field);

/// Values of the rule's fields that mend it (see `Violation::offers`).
/// `devices` as it was asked for, -1 if not stated.
std::vector<Offer> FindOffers(const Subject& subject, const Rule& rule,
                              int64_t devices);

/// "; nearest: tp 4 or 8, pp 2", or nothing without offers.
std::string OffersText(const std::vector<Offer>& offers);

}  // namespace lmsimbench::legality
