import { createContext, useContext } from "react";
import type { Offer } from "./offer.js";

export const OfferContext = createContext<((offer: Offer) => void) | undefined>(undefined);

/** Returns a function that opens the upload dialog for an archive or a folder. Throws outside of a `DropArea`. */
export function useOffer(): (offer: Offer) => void {
  const offer = useContext(OfferContext);
  if (!offer) throw new Error("outside of a drop area");
  return offer;
}
