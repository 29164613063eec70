import { Stack } from '@mantine/core';
import type { ReactNode, SyntheticEvent } from 'react';
import { Dialog, useDialogGuard } from './dialog.js';
import { DialogActions, type DialogActionsProps } from './dialog-actions.js';
import { FormProblems } from './problems.js';

type DialogFormProps = Omit<DialogActionsProps, 'isPending' | 'onAction'> & {
  /** What the person reads before the fields. */
  readonly intro?: ReactNode;
  /** The form (`useForm`), or the change of a form whose fields cannot be refused. */
  readonly form: {
    readonly error: Error | null;
    readonly isPending: boolean;
    /** The fields that show their own problems. */
    readonly fields?: readonly string[];
    readonly isUnsaved?: boolean;
  };
  readonly children: ReactNode;
  readonly onSubmit: () => void;
};

/**
 * The fields of one change, in a dialog. The Enter key and the button `action` send it. Only the button `Cancel` closes the dialog
 * without a prompt if something is entered.
 */
export const DialogForm = ({ intro, form, children, onSubmit, ...actions }: DialogFormProps) => {
  useDialogGuard(form.isUnsaved ?? false);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {intro}
        <FormProblems error={form.error} fields={form.fields ?? []} />
        {children}
        <DialogActions {...actions} isPending={form.isPending} />
      </Stack>
    </form>
  );
};

export type FormDialogProps = DialogFormProps & { readonly title: string; readonly size?: 'lg' };

/** A dialog with the fields of one change. */
export const FormDialog = ({ title, size, ...form }: FormDialogProps) => (
  <Dialog onClose={form.onClose} title={title} {...(size ? { size } : {})}>
    <DialogForm {...form} />
  </Dialog>
);
