import { Text, Textarea } from '@mantine/core';
import { findIncluded } from '../../api/included.js';
import { useChangeRun, type ConsoleRunAction, type RunDocument } from '../../api/runs.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { PlanCounts } from '../../components/run-status.js';
import { reportAndClose } from '../../toasts.js';

const EXPLANATIONS: Readonly<Record<ConsoleRunAction, string>> = {
  apply: 'An executor applies the plan. It changes the resources of this workspace.',
  discard: 'The plan is not applied, and the run ends.',
  cancel: 'If an executor works on the run, it receives a request to stop. Its changes remain.',
  'force-cancel': 'The run ends at once, although its executor may still work. The state can then be incomplete.',
};

const MESSAGES: Readonly<Record<ConsoleRunAction, string>> = {
  apply: 'The run is confirmed.',
  discard: 'The run is discarded.',
  cancel: 'The run is canceled, or stops soon.',
  'force-cancel': 'The run is canceled.',
};

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
  const plan = findIncluded(document, document.data.relationships.plan.data)?.attributes;
  return (
    <FormDialog
      title={label}
      action={label}
      cancel="Back"
      isDangerous={action !== 'apply'}
      intro={
        <>
          <Text size="sm">
            Workspace: <strong>{workspace}</strong>
          </Text>
          <Text size="sm">{EXPLANATIONS[action]}</Text>
          {action === 'apply' && plan && (
            <Text size="sm" fw={600}>
              <PlanCounts
                counts={[plan['resource-additions'], plan['resource-changes'], plan['resource-destructions']]}
              />
            </Text>
          )}
        </>
      }
      form={form}
      onSubmit={() => change.mutate({ action, ...form.trimmed }, reportAndClose(MESSAGES[action], onClose))}
      onClose={onClose}
    >
      <Textarea
        label="Comment"
        description="Everybody who may read the run can read it."
        data-autofocus
        autosize
        minRows={2}
        {...form.text('comment')}
      />
    </FormDialog>
  );
};
