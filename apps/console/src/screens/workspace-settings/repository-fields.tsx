import { Checkbox, Select, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { describeError, isDenied } from '../../api/api-error.js';
import { connectionChoicesQuery, repositorySuggestionsQuery } from '../../api/connections.js';
import { findFieldProblem } from '../../components/problems.js';
import { SearchSelect, useSuggestionText } from '../../components/search-select.js';
import { ErrorState, LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import type { RepositoryForm } from './repository-form.js';

type FieldsProps = { readonly organization: string; readonly form: RepositoryForm };

const NO_REPOSITORY = {
  identifier: '',
  branch: '',
  'oauth-token-id': '',
  'github-app-installation-id': '',
  'tags-regex': '',
} as const;

const NO_CONNECTION = '';

/** The connections of the organization. The workspace can have one that was deleted. */
const ConnectionField = ({ organization, form }: FieldsProps) => {
  const { data, error, refetch } = useQuery(connectionChoicesQuery(organization));
  const token = form.values['oauth-token-id'];
  if (isDenied(error)) {
    return (
      <Text size="sm">You may not see the connections of the organization, so you cannot choose a repository.</Text>
    );
  }
  if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <LoadingLines count={2} />;
  const isKnown = token === NO_CONNECTION || data.some((choice) => choice.token === token);
  return (
    <>
      <Select
        label="Connection"
        allowDeselect={false}
        data={[
          { value: NO_CONNECTION, label: 'No repository' },
          ...data.map((choice) => ({ value: choice.token, label: choice.name })),
          ...(isKnown ? [] : [{ value: token, label: `Unknown (${token})` }]),
        ]}
        value={token}
        error={findFieldProblem(form.error, 'oauth-token-id')}
        onChange={(chosen) => form.enter({ ...NO_REPOSITORY, 'oauth-token-id': chosen ?? NO_CONNECTION })}
      />
      {data.length === 0 && (
        <Text size="sm">
          The organization has no connection.{' '}
          <TextLink to="/$organization/settings/version-control" params={{ organization }} underline="always">
            Connect a Git host
          </TextLink>
        </Text>
      )}
    </>
  );
};

/** The repositories that the Git host finds for what the person types. */
const IdentifierField = ({ organization, form }: FieldsProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { identifier, 'oauth-token-id': token } = form.values;
  const { data = [], error } = useQuery(repositorySuggestionsQuery(organization, token, searched));
  return (
    <SearchSelect
      label="Repository"
      placeholder="Search by name"
      required
      value={identifier || null}
      options={data.map((name) => ({ value: name, label: name }))}
      chosen={identifier === '' ? undefined : { value: identifier, label: identifier }}
      onSearch={onSearch}
      onChange={(chosen) => form.enter({ identifier: chosen ?? '' })}
      error={findFieldProblem(form.error, 'identifier') ?? (error && describeError(error))}
    />
  );
};

/** The repository of the configuration. */
export const RepositoryFields = ({ organization, form }: FieldsProps) => (
  <>
    <ConnectionField organization={organization} form={form} />
    {form.values['oauth-token-id'] !== NO_CONNECTION && (
      <>
        <IdentifierField organization={organization} form={form} />
        <TextInput
          label="Branch"
          description="Empty: the default branch."
          spellCheck={false}
          {...form.text('branch')}
        />
        <TextInput
          label="Regular expression of tags"
          description="Only tags that match it start runs, and no commits of the branch."
          spellCheck={false}
          {...form.text('tags-regex')}
        />
        <Checkbox
          label="Include submodules"
          description="Their repositories must be on the same Git host, and the account of the connection must read them."
          {...form.checkbox('ingress-submodules')}
        />
      </>
    )}
  </>
);
