import { createContext, useContext } from 'react';

/** A dialog that every screen can open. */
export type LayoutDialog = 'palette' | 'shortcuts';

export const DialogContext = createContext<(dialog: LayoutDialog) => void>(() => undefined);

/** Returns the function that opens a dialog of the layout. */
export const useOpenDialog = () => useContext(DialogContext);
