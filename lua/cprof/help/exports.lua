return {
  title = "exports",
  summary = "",
  text = [[

]],
}
