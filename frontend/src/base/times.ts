/** Writes moments the way every panel shows them, in the time of whoever looks. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `30 Nov, 10:41` of seconds since the epoch; with the year where it is not the one of `now_ms`. */
export function moment(seconds: number, now_ms = Date.now()): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return "at an unknown time";
  const year = date.getFullYear();
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
  const time = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
  return `${day}${year === new Date(now_ms).getFullYear() ? "" : ` ${year}`}, ${time}`;
}
