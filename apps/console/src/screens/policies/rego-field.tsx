import { Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { FileDrop } from '../../components/file-drop.js';

const MAX_BYTES = 1024 * 1024;

type RegoFieldProps = {
  readonly value: string;
  readonly isDisabled: boolean;
  readonly onChange: (text: string) => void;
};

/** The text of a policy, which the person writes or takes from a file. */
export const RegoField = ({ value, isDisabled, onChange }: RegoFieldProps) => {
  const [problem, setProblem] = useState<string | null>(null);
  const readFile = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const isTooLarge = file.size > MAX_BYTES;
    setProblem(isTooLarge ? `${file.name} is too large (at most 1 MiB).` : null);
    if (!isTooLarge) onChange(await file.text());
  };
  return (
    <>
      <Textarea
        label="Text in Rego"
        description="It reads the plan as input.plan, and facts about the run as input.run."
        autosize
        minRows={8}
        maxRows={24}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        disabled={isDisabled}
        value={value}
        error={problem}
        onChange={(event) => {
          setProblem(null);
          onChange(event.currentTarget.value);
        }}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', whiteSpace: 'pre', overflowX: 'auto' } }}
      />
      <FileDrop
        label="a file with the text"
        action="Choose a file"
        isMultiple={false}
        isBusy={isDisabled}
        onFiles={([file]) => void readFile(file)}
      >
        <Text size="sm">Drop a file here. It replaces the text.</Text>
      </FileDrop>
    </>
  );
};
