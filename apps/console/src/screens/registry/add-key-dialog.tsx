import { Stack, Text, Textarea } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { useAddGpgKey } from '../../api/registry.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { findFieldProblem, FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type AddKeyDialogProps = { readonly organization: string; readonly onClose: () => void };

export const AddKeyDialog = ({ organization, onClose }: AddKeyDialogProps) => {
  const [armor, setArmor] = useState('');
  const addition = useAddGpgKey(organization);
  const add = (event: SyntheticEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      showToast({ kind: 'success', message: 'The key is added.' });
      onClose();
    };
    addition.mutate(armor, { onSuccess });
  };
  return (
    <Dialog onClose={onClose} size="lg" title="Add a GPG key">
      <form onSubmit={add}>
        <Stack>
          <Text size="sm">Print the public key (RSA or DSA), and paste it here.</Text>
          <CodeBlock code="gpg --armor --export releases@example.com" label="the export command" />
          <FormProblems error={addition.error} fields={['ascii-armor']} />
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
          <DialogActions action="Add" isPending={addition.isPending} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
};
