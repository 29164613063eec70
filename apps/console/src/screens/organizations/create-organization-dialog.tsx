import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { accountQuery } from '../../api/account.js';
import { useCreateOrganization } from '../../api/organizations.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { showToast } from '../../toasts.js';
import { getOrganizationPath } from '../../navigation.js';

export const CreateOrganizationDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const navigate = useNavigate();
  const { data: account } = useQuery(accountQuery);
  const creation = useCreateOrganization();
  const form = useForm({ name: '', email: account?.attributes.email ?? '' }, creation);
  const create = () => {
    const { name } = form.values;
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The organization ${name} is created.` });
      void navigate({ to: getOrganizationPath(name) });
    };
    creation.mutate(form.values, { onSuccess });
  };
  return (
    <FormDialog title="New organization" action="Create" form={form} onSubmit={create} onClose={onClose}>
      <TextInput
        label="Name"
        description="It is part of the address of every workspace. Letters, digits, hyphens and underscores."
        required
        data-autofocus
        {...form.text('name')}
      />
      <TextInput
        label="E-mail address"
        description="The address of the people who run the organization."
        type="email"
        required
        {...form.text('email')}
        autoComplete="email"
      />
    </FormDialog>
  );
};
