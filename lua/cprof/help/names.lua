return {
  title = "names",
  summary = "",
  text = [[

]],
}
