import { Badge, Text } from '@mantine/core';
import { Time, useNow } from './times.js';

const SOON_MS = 14 * 24 * 60 * 60_000;

/** The end of a token. An end within two weeks stands out. */
export const TokenEnd = ({ end }: { readonly end: string | null }) => {
  const now = useNow();
  if (end === null) return <>Never</>;
  const distance = new Date(end).getTime() - now;
  if (distance <= 0) {
    return <Badge color="red">Expired</Badge>;
  }
  if (distance > SOON_MS) return <Time value={end} />;
  return (
    <Text span size="sm" fw={600} c="var(--console-warning)">
      <Time value={end} />
    </Text>
  );
};
