;;; hive-editors-test.el --- The calls of agents of other packages  -*- lexical-binding: t; -*-

;; Tags: untrusted

;;; Code:

(require 'ert)
(require 'hive-agent-shell)
(require 'hive-editors)

(ert-deftest hive-editors-no-argument-is-displayed-in-the-place-of-another ()
  (dolist (json '("{\"command\":\"rm -rf ~\",\":command\":\"ls\"}"
                  "{\":command\":\"ls\",\"command\":\"rm -rf ~\"}"))
    (dolist (type '(plist alist hash-table))
      (let ((sent (hive-editor-json (json-parse-string json :object-type type))))
        (should (= 2 (hash-table-count sent)))
        (should (equal "rm -rf ~" (gethash "command" sent)))
        (should (equal "ls" (gethash ":command" sent)))))
    (let* ((call `((:title . "List") (:raw-input . ,(json-parse-string json :object-type 'alist))
                   (:locations . [((path . "/a"))])))
           (params (hive-agent-shell--params call nil)))
      (should (equal "rm -rf ~" (gethash "command" (plist-get params :input))))
      (should (equal "/a" (gethash "path" (aref (gethash "locations" (plist-get params :rest)) 0)))))))

(provide 'hive-editors-test)
;;; hive-editors-test.el ends here
