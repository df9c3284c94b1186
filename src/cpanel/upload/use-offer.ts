import { createContext, useContext } from "react";
import type { Offer } from "./offer.js";

export const OfferContext = createContext<((offer: Offer) => void) | undefined>(undefined);

/** Opens the dialog that shows what is in an offer, and sends it when that is confirmed. */
export function useOffer(): (offer: Offer) => void {
  const offer = useContext(OfferContext);
  if (!offer) throw new Error("outside of a drop area");
  return offer;
}
