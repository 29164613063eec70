import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { projectQuery, projectSuggestionsQuery } from '../../api/projects.js';

const TYPING_MS = 200;

type ProjectSelectProps = {
  readonly organization: string;
  readonly label: string;
  readonly placeholder: string;
  /** The id of a project, or null. */
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
};

/** Chooses a project, with suggestions for what the person types. */
export const ProjectSelect = ({ organization, label, placeholder, value, onChange }: ProjectSelectProps) => {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, TYPING_MS);
  const { data: suggestions = [] } = useQuery(projectSuggestionsQuery(organization, searched));
  const { data: chosen } = useQuery({ ...projectQuery(organization, value ?? ''), enabled: value !== null });
  const projects = new Map([...suggestions, ...(chosen ? [chosen] : [])].map((each) => [each.id, each]));
  return (
    <Select
      label={label}
      placeholder={placeholder}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the project' }}
      data={[...projects.values()].map(({ id, attributes: { name } }) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
      onSearchChange={setText}
    />
  );
};
