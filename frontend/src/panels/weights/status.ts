/** Says why a row holds what it holds, from the bits of its status. */

/** Of docs/file-format.md. */
export const STATUS = {
  NO_GRADIENT: 2,
  FROZEN: 4,
  UNDEFINED_RATIO: 8,
  SUB_SAMPLED: 16,
  UPDATE_SKIPPED: 32,
  UNUSED: 64,
  UNSEEN: 128,
} as const;

/** Why a value is 0, missing or an estimate; the first that explains it. */
export function statusReason(status: number, value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) {
    if (status & STATUS.UNDEFINED_RATIO) return "the weight norm is 0";
    if (status & STATUS.FROZEN) return "frozen";
    if (status & STATUS.UNUSED) return "unused in the backward pass";
    if (status & STATUS.NO_GRADIENT) return "no gradient";
    if (status & STATUS.UNSEEN) return "not measurable on this step";
    return "";
  }
  if (value === 0) {
    if (status & STATUS.FROZEN) return "frozen";
    if (status & STATUS.UPDATE_SKIPPED) return "update skipped";
    if (status & STATUS.UNUSED) return "unused in the backward pass";
    if (status & STATUS.NO_GRADIENT) return "no gradient";
  }
  return status & STATUS.SUB_SAMPLED ? "estimated from a part of the entries" : "";
}
