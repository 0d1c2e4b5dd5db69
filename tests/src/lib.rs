//! End-to-end tests across the programs; see `tests/`. Nothing here is used by the product.
