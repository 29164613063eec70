import { Stack, Text } from '@mantine/core';
import { Dialog } from '../components/dialog.js';
import { DialogActions } from '../components/dialog-actions.js';
import { closePrompt, useUnsavedPrompt } from '../components/unsaved.js';

/** Asks before what the person has entered is lost. */
export const UnsavedDialog = () => {
  const prompt = useUnsavedPrompt();
  if (prompt === null) return null;
  const answer = (run: () => void) => () => {
    closePrompt();
    run();
  };
  return (
    <Dialog title="Leave without saving?" zIndex={300} onClose={answer(prompt.stay)}>
      <Stack>
        <Text size="sm">What you have entered is not saved.</Text>
        <DialogActions
          action="Leave"
          cancel="Stay"
          isCancelFocused
          isDangerous
          isPending={false}
          onAction={answer(prompt.leave)}
          onClose={answer(prompt.stay)}
        />
      </Stack>
    </Dialog>
  );
};
