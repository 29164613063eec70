import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { accountQuery } from '../../api/account.js';
import { useCreateOrganization } from '../../api/organizations.js';
import { FormDialog } from '../../components/form-dialog.js';
import { NameField } from '../../components/name-field.js';
import { findFieldProblem } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';
import { getOrganizationPath } from '../../layout/navigation.js';

const FIELDS = ['name', 'email'];

export const CreateOrganizationDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const navigate = useNavigate();
  const { data: account } = useQuery(accountQuery);
  const [name, setName] = useState('');
  const [email, setEmail] = useState(account?.attributes.email ?? '');
  const creation = useCreateOrganization();
  const create = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The organization ${name} is created.` });
      void navigate({ to: getOrganizationPath(name) });
    };
    creation.mutate({ name, email }, { onSuccess });
  };
  return (
    <FormDialog
      title="New organization"
      action="Create"
      isPending={creation.isPending}
      error={creation.error}
      fields={FIELDS}
      onSubmit={create}
      onClose={onClose}
    >
      <NameField
        value={name}
        description="It is part of the address of every workspace. Letters, digits, hyphens and underscores."
        error={creation.error}
        onChange={setName}
      />
      <TextInput
        label="E-mail address"
        description="The address of the people who run the organization."
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={findFieldProblem(creation.error, 'email')}
      />
    </FormDialog>
  );
};
