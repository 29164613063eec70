import { Stack, Text } from '@mantine/core';
import { Dialog } from '../components/dialog.js';
import { DialogActions } from '../components/dialog-actions.js';
import { closeQuestion, useUnsavedQuestion } from '../components/unsaved.js';

/** Asks before what the person has entered is lost. */
export const UnsavedDialog = () => {
  const question = useUnsavedQuestion();
  if (question === null) return null;
  const answer = (run: () => void) => () => {
    closeQuestion();
    run();
  };
  return (
    <Dialog title="Leave without saving?" zIndex={300} onClose={answer(question.stay)}>
      <Stack>
        <Text size="sm">What you have entered is not saved.</Text>
        <DialogActions
          action="Leave"
          cancel="Stay"
          isCancelFocused
          isDangerous
          isPending={false}
          onAction={answer(question.leave)}
          onClose={answer(question.stay)}
        />
      </Stack>
    </Dialog>
  );
};
