"""TensorBoard tabs over the log store. Importing this package loads nothing; `loaders` is what TensorBoard imports."""
