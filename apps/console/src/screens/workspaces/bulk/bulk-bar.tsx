import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { lazyComponent } from '../../../components/lazy-component.js';
import { MAX_SELECTED, type WorkspaceSelection } from '../workspace-selection.js';
import classes from '../workspaces.module.css';
import type { BulkAction } from './bulk-plan.js';

const BulkDialog = lazyComponent(() => import('./bulk-dialog.js'), 'BulkDialog');

const ACTIONS: readonly { readonly action: BulkAction; readonly label: string }[] = [
  { action: 'lock', label: 'Lock' },
  { action: 'unlock', label: 'Unlock' },
  { action: 'add-tag', label: 'Add a tag' },
  { action: 'remove-tag', label: 'Remove a tag' },
  { action: 'move', label: 'Move' },
];

/** Names what is selected, above all whether the limit has left workspaces out. */
const describeSelection = (count: number, total: number): string => {
  if (count === MAX_SELECTED && total > MAX_SELECTED) {
    return `${MAX_SELECTED} of ${total.toLocaleString()} are selected, the limit of one change`;
  }
  return `${count.toLocaleString()} selected`;
};

type BulkBarProps = {
  readonly organization: string;
  readonly selection: WorkspaceSelection;
  readonly total: number;
};

/** Changes the selected workspaces. Each button first shows a preview. */
export const BulkBar = ({ organization, selection: { ids, clear }, total }: BulkBarProps) => {
  const [action, setAction] = useState<BulkAction | null>(null);
  return (
    <>
      <section className={classes['bulk']} aria-label="Change the selected workspaces">
        <Text size="sm" fw={600} role="status">
          {describeSelection(ids.length, total)}
        </Text>
        <Group gap="xs">
          {ACTIONS.map((each) => (
            <Button key={each.action} size="compact-sm" variant="default" onClick={() => setAction(each.action)}>
              {each.label}
            </Button>
          ))}
          <Button size="compact-sm" variant="subtle" onClick={clear}>
            Clear the selection
          </Button>
        </Group>
      </section>
      {action && <BulkDialog organization={organization} ids={ids} action={action} onClose={() => setAction(null)} />}
    </>
  );
};
