import { Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useAddGpgKey } from '../../api/registry.js';
import { CodeBlock } from '../../components/copy.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type AddKeyDialogProps = { readonly organization: string; readonly onClose: () => void };

export const AddKeyDialog = ({ organization, onClose }: AddKeyDialogProps) => {
  const [armor, setArmor] = useState('');
  const addition = useAddGpgKey(organization);
  const add = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: 'The key is added.' });
      onClose();
    };
    addition.mutate(armor, { onSuccess });
  };
  return (
    <FormDialog
      size="lg"
      title="Add a GPG key"
      action="Add"
      isPending={addition.isPending}
      intro={
        <>
          <Text size="sm">
            Print the public key (RSA, DSA, ed25519 or NIST), and paste it here. To renew a key, add it again.
          </Text>
          <CodeBlock code="gpg --armor --export releases@example.com" label="the export command" />
        </>
      }
      error={addition.error}
      fields={['ascii-armor']}
      onSubmit={add}
      onClose={onClose}
    >
      <Textarea
        label="Public key"
        required
        data-autofocus
        rows={8}
        spellCheck={false}
        value={armor}
        onChange={(event) => setArmor(event.currentTarget.value)}
        error={findFieldProblem(addition.error, 'ascii-armor')}
      />
    </FormDialog>
  );
};
