import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useChangeLock, type Workspace } from '../../api/workspaces.js';
import { FormDialog } from '../../components/form-dialog.js';
import { LockReasonField } from '../../components/lock-reason-field.js';
import { showToast } from '../../components/toasts.js';

type DialogProps = { readonly organization: string; readonly workspace: Workspace; readonly onClose: () => void };

export const LockDialog = ({ organization, workspace, onClose }: DialogProps) => {
  const [reason, setReason] = useState('');
  const change = useChangeLock(organization, workspace);
  const lock = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `${workspace.attributes.name} is locked.` });
      onClose();
    };
    change.mutate({ action: 'lock', reason: reason.trim() }, { onSuccess });
  };
  return (
    <FormDialog
      title={`Lock ${workspace.attributes.name}`}
      action="Lock"
      isPending={change.isPending}
      intro={
        <Text size="sm">
          While you hold the lock, nobody else can upload a state, and no run starts in this workspace.
        </Text>
      }
      error={change.error}
      onSubmit={lock}
      onClose={onClose}
    >
      <LockReasonField value={reason} onChange={setReason} />
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
  const [typed, setTyped] = useState('');
  const change = useChangeLock(organization, workspace);
  const unlock = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `${name} is unlocked.` });
      onClose();
    };
    if (typed === name) change.mutate({ action: 'force-unlock' }, { onSuccess });
  };
  return (
    <FormDialog
      title={`Force unlock ${name}`}
      action="Force unlock"
      isDisabled={typed !== name}
      isDangerous
      isPending={change.isPending}
      intro={
        <Text size="sm">
          The lock belongs to {holder}. If they still change the state, two changes at the same time can damage it. Ask
          them first.
        </Text>
      }
      error={change.error}
      onSubmit={unlock}
      onClose={onClose}
    >
      <TextInput
        label="Type the name of the workspace to confirm"
        data-autofocus
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </FormDialog>
  );
};
