import { Select, Text } from '@mantine/core';
import { useChangeLock, type Workspace } from '../../api/workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { LockReasonField } from '../../components/lock-reason-field.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly workspace: Workspace; readonly onClose: () => void };

/** Seconds until a lock ends by itself; 0 if it does not. */
const ENDS = [
  { value: '0', label: 'When somebody unlocks it' },
  { value: '3600', label: 'In an hour' },
  { value: '28800', label: 'In 8 hours' },
  { value: '86400', label: 'In a day' },
] as const;

export const LockDialog = ({ organization, workspace, onClose }: DialogProps) => {
  const { name } = workspace.attributes;
  const change = useChangeLock(organization, workspace);
  const form = useForm({ reason: '', 'expires-in': '0' }, change);
  const { reason, 'expires-in': seconds } = form.trimmed;
  return (
    <FormDialog
      title={`Lock ${name}`}
      action="Lock"
      intro={
        <Text size="sm">
          While you hold the lock, nobody else can upload a state, and no run starts in this workspace.
        </Text>
      }
      form={form}
      onSubmit={() =>
        change.mutate(
          { action: 'lock', reason, seconds: Number(seconds) },
          reportAndClose(`${name} is locked.`, onClose),
        )
      }
      onClose={onClose}
    >
      <LockReasonField {...form.choice('reason')} />
      <Select
        label="The lock ends"
        data={ENDS}
        allowDeselect={false}
        {...form.choice('expires-in')}
        onChange={(value) => form.enter({ 'expires-in': value ?? '0' })}
        comboboxProps={{ withinPortal: false }}
      />
    </FormDialog>
  );
};

export const ForceUnlockDialog = ({
  organization,
  workspace,
  holder,
  onClose,
}: DialogProps & { readonly holder: string }) => {
  const { name } = workspace.attributes;
  const change = useChangeLock(organization, workspace);
  return (
    <ConfirmDialog
      title={`Force unlock ${name}`}
      action="Force unlock"
      typed={name}
      change={change}
      onConfirm={() => change.mutate({ action: 'force-unlock' }, reportAndClose(`${name} is unlocked.`, onClose))}
      onClose={onClose}
    >
      The lock belongs to {holder}. If they still change the state, two changes at the same time can damage it. Ask them
      first.
    </ConfirmDialog>
  );
};
