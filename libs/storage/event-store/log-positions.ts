import type { LogPosition } from '#platform/kernel';

export const LOG_START: LogPosition = { transaction: '0', position: 0 };

/** Returns the position of an event, or of a checkpoint. */
export const toPosition = ({ transaction, position }: LogPosition): LogPosition => ({ transaction, position });

/** Returns whether `a` is after `b` in the order of the log. */
export const isAfter = (a: LogPosition, b: LogPosition): boolean => {
  if (a.transaction === b.transaction) return a.position > b.position;
  return BigInt(a.transaction) > BigInt(b.transaction);
};

/** Returns the position that no other one precedes. */
export const findEarliest = (positions: readonly LogPosition[]): LogPosition =>
  positions.reduce((earliest, next) => (isAfter(earliest, next) ? next : earliest));
