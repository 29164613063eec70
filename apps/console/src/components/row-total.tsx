import { Text } from '@mantine/core';
import { formatCount } from './counts.js';

type RowTotalProps = {
  /** Undefined until the first page of the list is loaded. */
  readonly total: number | undefined;
  /** Why the list cannot be read. The screen shows it, so nothing loads here. */
  readonly error: Error | null;
  /** The noun in the singular, and in the plural if it is not `one` with an s. */
  readonly noun: readonly [one: string, many?: string];
};

/** The number of rows of a list, beside its filters. */
export const RowTotal = ({ total, error, noun: [one, many] }: RowTotalProps) => (
  <Text size="sm" c="dimmed" role="status">
    {total === undefined ? error === null && 'Loading …' : formatCount(total, one, many)}
  </Text>
);
