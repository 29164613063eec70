/** The count of the API stops at this number. */
const MOST_COUNTED = 100_000;

/** A follower with more unread events needs attention. */
export const FAR_BEHIND = 1_000;

export const formatBehind = (behind: number): string =>
  behind >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString()} or more` : behind.toLocaleString();
