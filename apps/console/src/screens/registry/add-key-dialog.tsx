import { Text, Textarea } from '@mantine/core';
import { useAddGpgKey } from '../../api/registry.js';
import { CodeBlock } from '../../components/copy.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

type AddKeyDialogProps = { readonly organization: string; readonly onClose: () => void };

export const AddKeyDialog = ({ organization, onClose }: AddKeyDialogProps) => {
  const addition = useAddGpgKey(organization);
  const form = useForm({ 'ascii-armor': '' }, addition);
  return (
    <FormDialog
      size="lg"
      title="Add a GPG key"
      action="Add"
      intro={
        <>
          <Text size="sm">
            Print the public key (RSA, DSA, ed25519 or NIST), and paste it here. To renew a key, add it again.
          </Text>
          <CodeBlock code="gpg --armor --export releases@example.com" label="the export command" />
        </>
      }
      form={form}
      onSubmit={() => addition.mutate(form.values['ascii-armor'], reportAndClose('The key is added.', onClose))}
      onClose={onClose}
    >
      <Textarea label="Public key" required data-autofocus rows={8} spellCheck={false} {...form.text('ascii-armor')} />
    </FormDialog>
  );
};
