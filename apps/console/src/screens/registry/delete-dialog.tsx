import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useDeleteFromRegistry, type RegistryTarget } from '../../api/registry.js';
import { FormDialog } from '../../components/form-dialog.js';
import { showToast } from '../../components/toasts.js';

/** Returns what the person types, and what the deletion means. */
const describeTarget = (
  target: RegistryTarget,
): { readonly typed: string; readonly title: string; readonly effect: string } => {
  switch (target.kind) {
    case 'provider':
      return {
        typed: target.name,
        title: `Delete the provider ${target.name}`,
        effect: 'All its versions and files are deleted. Configurations that require it can no longer be initialized.',
      };
    case 'version':
      return {
        typed: target.version,
        title: `Delete ${target.name} ${target.version}`,
        effect: 'Its files are deleted. Configurations that require this version can no longer be initialized.',
      };
    case 'key':
      return {
        typed: target.keyId,
        title: `Delete the key ${target.keyId}`,
        effect: 'Nobody can install what the key has signed any more.',
      };
  }
};

type DeleteDialogProps = {
  readonly organization: string;
  readonly target: RegistryTarget;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
};

/** Deletes something after the person has typed its name. */
export const DeleteDialog = ({ organization, target, onClose, onDeleted }: DeleteDialogProps) => {
  const { typed, title, effect } = describeTarget(target);
  const [text, setText] = useState('');
  const deletion = useDeleteFromRegistry(organization);
  const confirm = () => {
    if (text !== typed) return;
    const onSuccess = () => {
      showToast({ kind: 'success', message: `${typed} is deleted.` });
      onClose();
      onDeleted?.();
    };
    deletion.mutate(target, { onSuccess });
  };
  return (
    <FormDialog
      title={title}
      action="Delete"
      isDisabled={text !== typed}
      isDangerous
      isPending={deletion.isPending}
      intro={<Text size="sm">{effect}</Text>}
      error={deletion.error}
      onSubmit={confirm}
      onClose={onClose}
    >
      <TextInput
        label={`Type ${typed} to confirm`}
        data-autofocus
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </FormDialog>
  );
};
