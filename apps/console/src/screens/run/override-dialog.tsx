import { Textarea } from '@mantine/core';
import { useOverridePolicies } from '../../api/policy-evaluations.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { reportAndClose } from '../../toasts.js';

type OverrideDialogProps = { readonly organization: string; readonly stage: string; readonly onClose: () => void };

export const OverrideDialog = ({ organization, stage, onClose }: OverrideDialogProps) => {
  const change = useOverridePolicies(organization, stage);
  const form = useForm({ comment: '' }, change);
  const override = () =>
    change.mutate(form.trimmed.comment, reportAndClose('The failed policies are overridden.', onClose));
  return (
    <ConfirmDialog
      title="Override the failed policies"
      action="Override"
      cancel="Back"
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
      onConfirm={override}
      onClose={onClose}
    >
      The run continues although its plan does not pass. The audit trail records the override.
    </ConfirmDialog>
  );
};
