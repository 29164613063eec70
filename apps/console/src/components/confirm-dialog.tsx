import { Text, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { FormDialog, type FormDialogProps } from './form-dialog.js';

type ConfirmDialogProps = Pick<FormDialogProps, 'title' | 'action' | 'cancel' | 'onClose'> & {
  readonly change: FormDialogProps['form'];
  /** A text that the person types before the button can be pressed, such as the name of what is deleted. */
  readonly typed?: string;
  /** The effect of the change, and the things that stay. */
  readonly children: ReactNode;
  /** Fields that belong to the change, such as a comment. */
  readonly fields?: ReactNode;
  /** Whether the change removes something. */
  readonly isDangerous?: boolean;
  readonly onConfirm: () => void;
};

type TypedTextProps = {
  readonly typed: string;
  readonly 'data-autofocus'?: boolean;
  readonly text: string;
  readonly onText: (text: string) => void;
};

/** A field in which a person repeats a text, so that nobody makes a large change by a habit. */
export const TypedText = ({ typed, text, onText, ...props }: TypedTextProps) => (
  <TextInput
    label={`Type ${typed} to confirm`}
    autoComplete="off"
    value={text}
    onChange={(event) => onText(event.currentTarget.value)}
    {...props}
  />
);

/** A dialog that a person confirms before something is removed. */
export const ConfirmDialog = ({ change, typed = '', fields, children, onConfirm, ...dialog }: ConfirmDialogProps) => {
  const [text, setText] = useState('');
  const needsText = typed !== '';
  return (
    <FormDialog
      isDangerous
      {...dialog}
      form={change}
      isCancelFocused={!needsText}
      isDisabled={text !== typed}
      intro={
        <Text size="sm" component="div">
          {children}
        </Text>
      }
      onSubmit={() => {
        if (text === typed) onConfirm();
      }}
    >
      {fields}
      {needsText && <TypedText typed={typed} text={text} onText={setText} data-autofocus />}
    </FormDialog>
  );
};
