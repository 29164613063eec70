import { Textarea } from '@mantine/core';
import { useCommentRun } from '../../api/runs.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

type CommentDialogProps = { readonly organization: string; readonly run: string; readonly onClose: () => void };

export const CommentDialog = ({ organization, run, onClose }: CommentDialogProps) => {
  const change = useCommentRun(organization, run);
  const form = useForm({ body: '' }, change);
  return (
    <FormDialog
      title="Comment on the run"
      action="Add the comment"
      form={form}
      onSubmit={() => change.mutate(form.trimmed.body, reportAndClose('The comment is added.', onClose))}
      onClose={onClose}
    >
      <Textarea
        label="Comment"
        description="Everybody who may read the run can read it."
        required
        data-autofocus
        autosize
        minRows={2}
        maxRows={12}
        {...form.text('body')}
      />
    </FormDialog>
  );
};
