import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { accountQuery } from '../../../api/account.js';
import { forbiddingKeysQuery, workspaceFactsQuery } from '../../../api/bulk-changes.js';
import { Dialog } from '../../../components/dialog.js';
import { ErrorState, LoadingLines } from '../../../components/states.js';
import { BulkForm, NO_FIELDS, useTargetProject, type BulkFields } from './bulk-form.js';
import { explainMissingAccess, isComplete, planBulkChange, type BulkAction, type BulkPlan } from './bulk-plan.js';
import { BulkPreview } from './bulk-preview.js';
import { BulkProgress } from './bulk-progress.js';
import { useBulkRun } from './use-bulk-run.js';
import { formatCount } from '../../../components/counts.js';

type ActionTexts = { readonly title: string; readonly button: string; readonly incomplete: string };

const TEXTS: Readonly<Record<BulkAction, ActionTexts>> = {
  lock: { title: 'Lock workspaces', button: 'Lock', incomplete: '' },
  unlock: { title: 'Unlock workspaces', button: 'Unlock', incomplete: '' },
  'add-tag': { title: 'Add a tag', button: 'Add the tag to', incomplete: 'Enter a key to see what changes.' },
  'remove-tag': {
    title: 'Remove a tag',
    button: 'Remove the tag from',
    incomplete: 'Enter a key to see what changes.',
  },
  move: { title: 'Move workspaces', button: 'Move', incomplete: 'Choose a project to see what changes.' },
};

type BulkDialogProps = {
  readonly organization: string;
  readonly ids: readonly string[];
  readonly action: BulkAction;
  readonly onClose: () => void;
};

/** Reads what the preview needs, as it is now. */
const useBulkPlan = ({ organization, ids, action }: BulkDialogProps, fields: BulkFields) => {
  const facts = useQuery(workspaceFactsQuery(organization, ids));
  const account = useQuery(accountQuery);
  const forbidding = useQuery({ ...forbiddingKeysQuery(organization), enabled: action === 'add-tag' });
  const target = useTargetProject(organization, fields.project);
  const queries = [facts, account, forbidding, target];
  const failed = queries.find(({ error }) => error !== null);
  const input = { ...fields, key: fields.key.trim(), value: fields.value.trim(), project: target.data ?? null };
  const isReady = facts.data !== undefined && account.data !== undefined && !queries.some(({ isLoading }) => isLoading);
  const plan: BulkPlan | null =
    isReady && isComplete(action, input)
      ? planBulkChange(action, facts.data, {
          ...input,
          reason: fields.reason.trim(),
          accountId: account.data.id,
          forbiddingKeys: forbidding.data ?? [],
        })
      : null;
  const missingAccess = facts.data ? explainMissingAccess(action, facts.data) : null;
  return { plan, failed, isReady, missingAccess, missing: facts.data ? ids.length - facts.data.length : 0 };
};

type PreviewStepProps = BulkDialogProps & {
  readonly fields: BulkFields;
  readonly onFields: (fields: BulkFields) => void;
  readonly onStart: (plan: BulkPlan) => void;
};

type NoAccessProps = { readonly count: number; readonly reason: string; readonly onClose: () => void };

/** Replaces the form for people who may change none of the workspaces. */
const NoAccess = ({ count, reason, onClose }: NoAccessProps) => (
  <Stack>
    <Text size="sm">
      {count === 1 ? 'You may not change this workspace.' : `You may change none of these ${count} workspaces.`}{' '}
      {reason}
    </Text>
    <Group justify="flex-end">
      <Button data-autofocus onClick={onClose}>
        Close
      </Button>
    </Group>
  </Stack>
);

const PreviewStep = (props: PreviewStepProps) => {
  const { organization, action, fields, onFields, onClose, onStart } = props;
  const { plan, failed, isReady, missingAccess, missing } = useBulkPlan(props, fields);
  const { button, incomplete } = TEXTS[action];
  const count = plan?.changes.length ?? 0;
  const start = (event: SyntheticEvent) => {
    event.preventDefault();
    if (plan && count > 0) onStart(plan);
  };
  if (missingAccess !== null) return <NoAccess count={props.ids.length} reason={missingAccess} onClose={onClose} />;
  return (
    <form onSubmit={start}>
      <Stack>
        <BulkForm
          organization={organization}
          action={action}
          fields={fields}
          onChange={(changes) => onFields({ ...fields, ...changes })}
        />
        {failed?.error && <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />}
        {!failed && !isReady && <LoadingLines count={4} />}
        {isReady && !plan && (
          <Text size="sm" c="dimmed">
            {incomplete}
          </Text>
        )}
        {plan && <BulkPreview plan={plan} missing={missing} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={count === 0}>
            {`${button} ${formatCount(count, 'workspace')}`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

/** Shows what a change of several workspaces does, sends it, and shows the result. Nothing is sent before the person agrees. */
export const BulkDialog = (props: BulkDialogProps) => {
  const { organization, action, onClose } = props;
  const { state, start, stop, undo, reset } = useBulkRun(organization);
  const [fields, setFields] = useState(NO_FIELDS);
  const isRunning = state?.isRunning === true;
  return (
    <Dialog
      size="lg"
      onClose={onClose}
      // The result must not be lost while changes are on their way.
      isLocked={isRunning}
      closeOnClickOutside={state === null}
      title={TEXTS[action].title}
    >
      {state ? (
        <BulkProgress {...state} onStop={stop} onUndo={undo} onBack={reset} onClose={onClose} />
      ) : (
        <PreviewStep {...props} fields={fields} onFields={setFields} onStart={({ changes }) => start(changes)} />
      )}
    </Dialog>
  );
};
