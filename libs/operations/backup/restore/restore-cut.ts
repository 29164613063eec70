import type { BackupManifest, LogPart } from '../format/backup-manifest.js';

/** The range of the log to restore: everything, or up to a position, or up to a time in milliseconds since 1970. */
export type RestoreTarget =
  { readonly to: 'end' } | { readonly to: 'position'; readonly position: number } | { readonly to: 'time'; ms: number };

/** An event in a part of the log, as far as it is needed to find the end of the range. */
export type CutEvent = { readonly transaction: string; readonly position: number; readonly ms: number };

/**
 * The end of the range: all events of the first `parts` parts of the log, and of the next part the first `events`
 * events, which are complete transactions.
 */
export type RestoreCut = {
  readonly parts: number;
  readonly events: number;
  /** False if the backup has more events. */
  readonly isWhole: boolean;
};

const WHOLE_LOG = (log: readonly LogPart[]): RestoreCut => ({ parts: log.length, events: 0, isWhole: true });

const contains = (part: LogPart, target: Exclude<RestoreTarget, { to: 'end' }>): boolean =>
  target.to === 'time'
    ? part.maxTime > target.ms
    : part.minPosition <= target.position && target.position <= part.maxPosition;

/** Returns how many events of a part precede the end of the range; null if the end is not in this part. */
const countEventsBefore = (
  events: readonly CutEvent[],
  target: Exclude<RestoreTarget, { to: 'end' }>,
): number | null => {
  const index = events.findIndex(({ position, ms }) =>
    target.to === 'time' ? ms > target.ms : position === target.position,
  );
  const transaction = events[index]?.transaction;
  if (transaction === undefined) return null;
  // A transaction is restored as a whole, or not at all.
  return target.to === 'time'
    ? events.findIndex((event) => event.transaction === transaction)
    : events.findLastIndex((event) => event.transaction === transaction) + 1;
};

/**
 * Finds the end of the range. A position: the transaction of the event at that position is the last one. A time: the
 * range ends before the first transaction with a later event. Returns null if no event has the position. `read` reads
 * the events of a part.
 */
export const findCut = async (
  { log }: Pick<BackupManifest, 'log'>,
  target: RestoreTarget,
  read: (part: LogPart) => Promise<readonly CutEvent[]>,
): Promise<RestoreCut | null> => {
  if (target.to === 'end') return WHOLE_LOG(log);
  for (const [parts, part] of log.entries()) {
    if (!contains(part, target)) continue;
    const events = countEventsBefore(await read(part), target);
    if (events === null) continue;
    const isEnd = parts === log.length - 1 && events === part.lines - 1;
    return isEnd ? WHOLE_LOG(log) : { parts, events, isWhole: false };
  }
  return target.to === 'time' ? WHOLE_LOG(log) : null;
};
