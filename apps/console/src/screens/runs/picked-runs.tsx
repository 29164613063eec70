import { Button, Group, Text } from '@mantine/core';
import type { RunResultKey, RunSearch } from '../../api/runs.js';

const WORDS: Readonly<Record<RunResultKey, string>> = {
  applied: 'that were applied',
  'planned-and-finished': 'that ended with their plan',
  failed: 'that failed',
  stopped: 'that were discarded or canceled',
  open: 'that have not ended',
};

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const describe = ({ result, since, before, workspace }: RunSearch): string =>
  [
    'Runs',
    ...(workspace ? [`of ${workspace}`] : []),
    ...(result ? [WORDS[result]] : []),
    ...(since ? [`created from ${timeFormat.format(new Date(since))}`] : []),
    ...(before ? [`${since ? '' : 'created '}until ${timeFormat.format(new Date(before))}`] : []),
  ].join(' ');

type PickedRunsProps = { readonly search: RunSearch; readonly onClear: () => void };

/** Names the runs that a picture led to. */
export const PickedRuns = ({ search, onClear }: PickedRunsProps) => {
  const { result, since, before, workspace } = search;
  if ([result, since, before, workspace].every((each) => each === undefined)) return null;
  return (
    <Group gap="xs" role="status">
      <Text size="sm">{describe(search)}</Text>
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Show all runs
      </Button>
    </Group>
  );
};
