import { Alert, Text, Textarea } from '@mantine/core';
import { findIncluded } from '../../api/included.js';
import { countResources, useChangeRun, type ConsoleRunAction, type RunDocument } from '../../api/runs.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { useForm } from '../../components/form.js';
import { AlertIcon } from '../../components/icons.js';
import { PlanCounts } from '../../components/run-status.js';
import { reportAndClose } from '../../toasts.js';

const EXPLANATIONS: Readonly<Record<ConsoleRunAction, string>> = {
  apply: 'An executor applies the plan. It changes the resources of this workspace.',
  discard: 'The plan is not applied, and the run ends.',
  cancel: 'If an executor works on the run, it receives a request to stop. Its changes remain.',
  'force-cancel': 'The run ends at once, although its executor may still work. The state can then be incomplete.',
  'force-execute': 'The runs ahead of this one are discarded, and this run starts at once.',
};

const MESSAGES: Readonly<Record<ConsoleRunAction, string>> = {
  apply: 'The run is confirmed.',
  discard: 'The run is discarded.',
  cancel: 'The run is canceled, or stops soon.',
  'force-cancel': 'The run is canceled.',
  'force-execute': 'The run starts.',
};

/**
 * A plan that destroys more resources is confirmed by typing the name of the workspace. Up to ten are read one by one, and
 * are common: a resource that is replaced is destroyed too. Nobody reads more of them, and the wrong workspace costs most there.
 */
const MAX_DESTROYED_UNTYPED = 10;

type ActionDialogProps = {
  readonly organization: string;
  /** The name of the workspace of the run. */
  readonly workspace: string;
  readonly document: RunDocument;
  readonly action: ConsoleRunAction;
  readonly label: string;
  readonly onClose: () => void;
};

export const RunActionDialog = (props: ActionDialogProps) => {
  const { organization, workspace, document, action, label, onClose } = props;
  const change = useChangeRun(organization, document.data.id);
  const form = useForm({ comment: '' }, change);
  const plan = findIncluded(document, document.data.relationships.plan.data);
  const counts = action === 'apply' ? countResources(plan) : null;
  const destroyed = counts?.destroyed ?? 0;
  return (
    <ConfirmDialog
      title={label}
      action={destroyed > 0 ? `Apply and destroy ${destroyed.toLocaleString()}` : label}
      cancel="Back"
      isDangerous={action !== 'apply' || destroyed > 0}
      typed={destroyed > MAX_DESTROYED_UNTYPED ? workspace : ''}
      change={form}
      fields={
        <Textarea
          label="Comment"
          description="Everybody who may read the run can read it."
          autosize
          minRows={2}
          {...form.text('comment')}
        />
      }
      onConfirm={() => change.mutate({ action, ...form.trimmed }, reportAndClose(MESSAGES[action], onClose))}
      onClose={onClose}
    >
      <Text size="sm">
        Workspace: <strong>{workspace}</strong>
      </Text>
      <Text size="sm" my="xs">
        {EXPLANATIONS[action]}
      </Text>
      {counts && (
        <Text component="div">
          <PlanCounts counts={counts} />
        </Text>
      )}
      {destroyed > 0 && (
        <Alert
          color="red"
          variant="light"
          icon={<AlertIcon />}
          mt="xs"
          title={`${formatCount(destroyed, 'resource')} will be destroyed`}
        >
          A destroyed resource cannot be restored from here.
        </Alert>
      )}
    </ConfirmDialog>
  );
};
