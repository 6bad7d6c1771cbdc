// Instants as people read them: how long ago, or in how long.

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];
const FORMAT = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** Returns the distance of an instant from now, in the largest unit of which it has two, or in seconds. */
export function distance(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  const [unit, length] = STEPS.find(([, size]) => Math.abs(seconds) >= 2 * size) ?? ["second", 1];
  return FORMAT.format(Math.trunc(seconds / length), unit);
}
